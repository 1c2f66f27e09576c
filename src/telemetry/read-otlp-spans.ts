/** A span of an OTLP `ExportTraceServiceRequest`, with the members that tests check. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  attributes: Record<string, unknown>
  statusCode: number
}

export function readOtlpSpans(message: Buffer): ReceivedSpan[] {
  const resourceSpans = readFields(message, 1)
  const scopeSpans = resourceSpans.flatMap((field) => readFields(asBytes(field), 2))
  return scopeSpans.flatMap((field) => readFields(asBytes(field), 2)).map((field) => readSpan(asBytes(field)))
}

function readSpan(span: Buffer): ReceivedSpan {
  const text = (number: number, encoding: 'hex' | 'utf8') =>
    asBytes(readFields(span, number)[0]).toString(encoding)
  return {
    traceId: text(1, 'hex'),
    spanId: text(2, 'hex'),
    parentSpanId: text(4, 'hex'),
    name: text(5, 'utf8'),
    attributes: Object.fromEntries(readFields(span, 9).map((field) => readAttribute(asBytes(field)))),
    statusCode: Number(readFields(asBytes(readFields(span, 15)[0]), 3)[0] ?? 0),
  }
}

function readAttribute(attribute: Buffer): [string, unknown] {
  const name = asBytes(readFields(attribute, 1)[0]).toString()
  return [name, readValue(asBytes(readFields(attribute, 2)[0]))]
}

// The fields of AnyValue: 1 string, 2 boolean, 3 integer, 4 double, 5 array.
function readValue(value: Buffer): unknown {
  const [string] = readFields(value, 1)
  if (string !== undefined) return asBytes(string).toString()
  const [boolean] = readFields(value, 2)
  if (boolean !== undefined) return boolean === 1
  const [double] = readFields(value, 4)
  if (double !== undefined) return asBytes(double).readDoubleLE()
  const [array] = readFields(value, 5)
  if (array !== undefined) return readFields(asBytes(array), 1).map((field) => readValue(asBytes(field)))
  return readFields(value, 3)[0]
}

function asBytes(field: Buffer | number | undefined): Buffer {
  return Buffer.isBuffer(field) ? field : Buffer.alloc(0)
}

/** Returns the values of one field of a protobuf message: numbers for varints, bytes for everything else. */
function readFields(message: Buffer, wanted: number): (Buffer | number)[] {
  const found: (Buffer | number)[] = []
  let offset = 0
  const readVarint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = message.readUInt8(offset)
      offset += 1
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (offset < message.length) {
    const tag = readVarint()
    const wireType = tag & 7
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : wireType === 2 ? readVarint() : 0
    const value = wireType === 0 ? readVarint() : message.subarray(offset, (offset += length))
    if (tag >>> 3 === wanted) found.push(value)
  }
  return found
}

import { crc32 } from 'node:zlib'

/**
 * Writes one message of the binary event stream of AWS, from
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
function awsMessage(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const lengths = Buffer.from([name.length])
      const valueHead = Buffer.alloc(3)
      // Type 7 is a text.
      valueHead.writeUInt8(7, 0)
      valueHead.writeUInt16BE(Buffer.byteLength(value), 1)
      return Buffer.concat([lengths, Buffer.from(name), valueHead, Buffer.from(value)])
    }),
  )
  const payload = Buffer.from(body)
  const message = Buffer.alloc(16 + head.length + payload.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(head.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  head.copy(message, 12)
  payload.copy(message, 12 + head.length)
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

/** An event of `ConverseStream`, padded as Bedrock pads it. */
export function awsEvent(kind: string, content: object): Buffer {
  return awsMessage(
    { ':event-type': kind, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ ...content, p: 'abcdefgh' }),
  )
}

/** A chunk of `InvokeModelWithResponseStream`, padded as Bedrock pads it. */
export function awsChunk(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
  return awsMessage(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes, p: 'abcdefgh' }),
  )
}

export function awsException(kind: string, message: string): Buffer {
  return awsMessage(
    { ':exception-type': kind, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  )
}

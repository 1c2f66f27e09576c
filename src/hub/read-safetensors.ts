import { isRecord } from '../kernel/is-record.ts'
import { parseJson } from '../kernel/json/parse-json.ts'
import type { ModelWeights } from './estimate-memory.ts'
import { HubError } from './hub-error.ts'
import type { HubFiles } from './hub-files.ts'
import { lookupTable } from '../kernel/lookup-table.ts'

/** Facts about safetensors files, from their headers. */
export interface SafetensorsFacts extends ModelWeights {
  /** The data type with the most bytes, such as `BF16`. */
  readonly dtype: string
}

/** Facts of the config that change how tensors are counted. */
interface StorageFacts {
  /** Bits per weight if one number holds several weights, otherwise null. */
  readonly packedBits: number | null
  /** Whether the output layer shares the weights of the embedding. Engines do not load its stored copy. */
  readonly isTied: boolean
}

const OUTPUT_LAYER = 'lm_head.weight'
const FILES_MAX = 400
const FILES_AT_ONCE = 8
/** Most headers are shorter, so one request is enough. */
const FIRST_BYTES = 128 * 1024
const HEADER_BYTES_MAX = 32 * 1024 * 1024
const LENGTH_BYTES = 8

const BITS = lookupTable<number>({
  F64: 64,
  I64: 64,
  F32: 32,
  I32: 32,
  F16: 16,
  BF16: 16,
  I16: 16,
  U16: 16,
  F8_E4M3: 8,
  F8_E5M2: 8,
  F8_E8M0: 8,
  I8: 8,
  U8: 8,
  BOOL: 8,
  F4: 4,
})

/**
 * Reads only the headers of these files, with range requests. Does not use the hub's client library: it reads from storage hosts
 * with their own token, bypasses our redirect rules, and keeps every tensor in memory.
 */
export async function readSafetensors(
  files: Pick<HubFiles, 'readRange'>,
  names: readonly string[],
  { packedBits, isTied }: StorageFacts,
): Promise<SafetensorsFacts> {
  if (names.length > FILES_MAX) throw unreadable(`The model has more than ${FILES_MAX} files of weights.`)
  const bytesOfType = new Map<string, number>()
  let parameters = 0
  for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
    const headers = await Promise.all(
      names.slice(start, start + FILES_AT_ONCE).map((name) => readHeader(files, name)),
    )
    for (const { name, dtype, count } of headers.flatMap(listTensors)) {
      if (isTied && name === OUTPUT_LAYER) continue
      const bits = BITS[dtype]
      if (bits === undefined) throw unreadable(`The weights have a type that is not known: ${dtype}.`)
      bytesOfType.set(dtype, (bytesOfType.get(dtype) ?? 0) + (count * bits) / 8)
      // With packed weights, one number holds several weights.
      const isPacked = packedBits !== null && (dtype === 'I32' || dtype === 'U8')
      parameters += isPacked ? (count * bits) / packedBits : count
    }
  }
  const [largest] = [...bytesOfType].toSorted(([, one], [, other]) => other - one)
  if (largest === undefined) throw unreadable('The files of weights hold no tensors.')
  const bytes = [...bytesOfType.values()].reduce((sum, part) => sum + part, 0)
  return { parameters: Math.round(parameters), bytes, dtype: largest[0] }
}

async function readHeader(files: Pick<HubFiles, 'readRange'>, name: string): Promise<unknown> {
  const first = await files.readRange(name, 0, FIRST_BYTES)
  if (first.length < LENGTH_BYTES) throw unreadable('A file of weights is too short.')
  const length = first.readBigUInt64LE(0)
  if (length > BigInt(HEADER_BYTES_MAX)) throw unreadable('The header of a file of weights is too long.')
  const end = LENGTH_BYTES + Number(length)
  const rest = end > first.length ? await files.readRange(name, first.length, end) : Buffer.alloc(0)
  const header = Buffer.concat([first.subarray(LENGTH_BYTES, end), rest])
  if (header.length !== Number(length)) throw unreadable('A file of weights ends in its header.')
  try {
    return parseJson(header.toString('utf8'))
  } catch (error) {
    throw new HubError('unreadable', 'The header of a file of weights is not JSON.', { cause: error })
  }
}

interface Tensor {
  readonly name: string
  readonly dtype: string
  readonly count: number
}

function listTensors(header: unknown): Tensor[] {
  if (!isRecord(header)) throw unreadable('The header of a file of weights is no object.')
  return Object.entries(header).flatMap(([name, tensor]) => {
    if (name === '__metadata__') return []
    if (!isRecord(tensor) || typeof tensor['dtype'] !== 'string' || !Array.isArray(tensor['shape']))
      throw unreadable('The header of a file of weights describes no tensor.')
    const count = tensor['shape'].reduce((product: number, size: unknown) => product * sizeOf(size), 1)
    if (count > Number.MAX_SAFE_INTEGER) throw unreadable('A tensor is larger than any can be.')
    return [{ name, dtype: tensor['dtype'], count }]
  })
}

function sizeOf(size: unknown): number {
  if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size
  throw unreadable('A tensor has a size that is none.')
}

function unreadable(message: string): HubError {
  return new HubError('unreadable', message)
}

import { FileWindow } from './file-window.ts'

const SEGMENT = 0x18538067
const CLUSTER = 0x1f43b675
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const CLUSTER_TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const BLOCK_DURATION = 0x9b

/** Elements that are walked into rather than past. */
const PARENTS: ReadonlySet<number> = new Set([SEGMENT, CLUSTER, INFO, BLOCK_GROUP])
const ELEMENT_HEAD_BYTES = 12
const NANOSECONDS_PER_SECOND = 1e9
const SCALE_DEFAULT = 1_000_000
/** A block of Opus, the usual one of recorders. The last block says where it begins and seldom where it ends. */
const LAST_BLOCK_SECONDS = 0.02
/** Blocks of 20 ms for half a day; a file of more and smaller elements is made to waste time. */
const ELEMENTS_MAX = 2_000_000

/**
 * Walks through the blocks of a WebM file to the latest one. Browsers record without knowing how long it will be, and write no
 * duration into its head.
 */
export function scanWebmBlocks(path: string): Promise<number | null> {
  return FileWindow.use(path, async (window) => {
    let position = 0
    let scale = SCALE_DEFAULT
    let clusterTime = 0
    let latest = -1
    let lastBlockTicks = 0
    for (let elements = 0; position < window.bytes; elements += 1) {
      if (elements === ELEMENTS_MAX) return null
      const looked = window.look(position, ELEMENT_HEAD_BYTES)
      const element = readElementHead(looked instanceof Promise ? await looked : looked)
      if (element === null) break
      const dataStart = position + element.headBytes
      if (
        element.id === CLUSTER_TIMESTAMP ||
        element.id === TIMESTAMP_SCALE ||
        element.id === BLOCK_DURATION
      ) {
        const value = readUnsigned(await window.look(dataStart, Math.min(8, element.bytes)))
        if (element.id === TIMESTAMP_SCALE) scale = value === 0 ? SCALE_DEFAULT : value
        else if (element.id === CLUSTER_TIMESTAMP) clusterTime = value
        else lastBlockTicks = value
      }
      if (element.id === SIMPLE_BLOCK || element.id === BLOCK) {
        const time = clusterTime + readBlockTime(await window.look(dataStart, ELEMENT_HEAD_BYTES))
        if (time > latest) latest = time
        lastBlockTicks = 0
      }
      position = PARENTS.has(element.id) ? dataStart : dataStart + element.bytes
    }
    if (latest < 0) return null
    const lastSeconds =
      lastBlockTicks === 0 ? LAST_BLOCK_SECONDS : (lastBlockTicks * scale) / NANOSECONDS_PER_SECOND
    return (latest * scale) / NANOSECONDS_PER_SECOND + lastSeconds
  })
}

interface ElementHead {
  readonly id: number
  readonly headBytes: number
  readonly bytes: number
}

/** Null where no element begins. One of unknown size ends where the next of its kind begins, and is walked into anyway. */
function readElementHead(head: Buffer): ElementHead | null {
  const idBytes = lengthOf(head[0])
  if (idBytes === 0 || idBytes > 4 || head.length <= idBytes) return null
  const sizeBytes = lengthOf(head[idBytes])
  if (sizeBytes === 0 || head.length < idBytes + sizeBytes) return null
  const id = head.readUIntBE(0, idBytes)
  const size = readUnsigned(head.subarray(idBytes, idBytes + sizeBytes)) - 2 ** (7 * sizeBytes)
  return { id, headBytes: idBytes + sizeBytes, bytes: size }
}

/** By the zeros before the first set bit. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23
}

function readUnsigned(bytes: Buffer): number {
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  return value
}

/** Behind the number of the track: relative to the cluster's. */
function readBlockTime(block: Buffer): number {
  const trackBytes = lengthOf(block[0])
  return trackBytes > 0 && block.length >= trackBytes + 2 ? block.readInt16BE(trackBytes) : 0
}

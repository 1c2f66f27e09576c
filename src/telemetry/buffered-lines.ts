import { pino } from 'pino'

/** Somewhere to write lines to that costs no system call a line. */
export interface BufferedLines {
  write(line: string): void
  /** Resolves when everything written so far has left the process. */
  flush(): Promise<void>
}

/** Handing a chunk on wakes another thread, which costs as much as a hundred lines. */
const CHUNK_BYTES = 256 * 1024
const SPARE_CHUNKS_MAX = 4
/** No character of a text takes more in UTF-8. */
const BYTES_PER_CHARACTER_MAX = 3
// A reader that stops reading costs this much memory and then log lines, never the gateway.
const BACKLOG_BYTES_MAX = 8 * 1024 * 1024

/**
 * Gathers lines and hands them on in chunks: when a chunk is full, when the interval has passed, and when the process
 * exits or dies of an exception. Only a kill loses the last interval.
 */
export function createBufferedLines(options: {
  readonly destination: string | number
  readonly flushIntervalMs: number
}): BufferedLines {
  const destination = pino.destination({
    dest: options.destination,
    sync: false,
    // Below this a flush does not wait for the write.
    minLength: 1,
    maxLength: BACKLOG_BYTES_MAX,
    contentMode: 'buffer',
    mkdir: true,
  })
  // Bytes at once, not lines to be joined later: text that waits is text the collector copies again and again.
  let chunk: Buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let length = 0
  let isClosed = false
  destination.on('close', () => {
    isClosed = true
  })

  // Written chunks are used again: each would otherwise stay until a full collection, which may be minutes away.
  let unwrittenBytes = 0
  let handedOn: Buffer[] = []
  const spare: Buffer[] = []
  destination.on('write', (bytes: number) => {
    unwrittenBytes -= bytes
    if (unwrittenBytes !== 0) return
    spare.push(...handedOn.slice(0, SPARE_CHUNKS_MAX - spare.length))
    handedOn = []
  })
  // Typed for text only, though it takes bytes in this mode.
  const writeBytes: (bytes: Buffer) => void = destination.write.bind(destination) as never
  let isDropped = false
  destination.on('drop', () => {
    isDropped = true
  })
  const handBytesOn = (bytes: Buffer) => {
    isDropped = false
    writeBytes(bytes)
    if (!isDropped) unwrittenBytes += bytes.length
  }
  const handOn = () => {
    if (length === 0 || isClosed) return
    handBytesOn(chunk.subarray(0, length))
    length = 0
    // What was dropped holds nothing any more and is filled again.
    if (isDropped) return
    handedOn.push(chunk)
    chunk = spare.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES)
  }
  setInterval(handOn, options.flushIntervalMs).unref()
  onExit(() => {
    handOn()
    if (!isClosed) writeRest(destination)
  })

  return {
    write: (line) => {
      const bytesMax = line.length * BYTES_PER_CHARACTER_MAX
      if (bytesMax > CHUNK_BYTES - length) handOn()
      if (bytesMax > CHUNK_BYTES) handBytesOn(Buffer.from(line))
      else length += chunk.write(line, length)
    },
    flush: async () => {
      handOn()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      destination.flush((error) => (error && !isUnsyncable(error) ? reject(error) : resolve()))
      await promise
    },
  }
}

// Pipes and terminals hold nothing that could be forced to a disk, and say so after everything is written.
function isUnsyncable(error: Error): boolean {
  return 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP')
}

const exits: (() => void)[] = []

// One listener for all: a process may open many logs, as tests do, and Node warns of many listeners.
function onExit(writeOut: () => void): void {
  if (exits.length === 0) process.on('exit', () => exits.forEach((exit) => exit()))
  exits.push(writeOut)
}

function writeRest(destination: { flushSync(): void }): void {
  try {
    destination.flushSync()
  } catch {
    // The process is going; there is nobody left to tell.
  }
}

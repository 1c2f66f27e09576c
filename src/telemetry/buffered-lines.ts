import { pino } from 'pino'

/** A line writer that does not need a system call per line. */
export interface BufferedLines {
  write(line: string): void
  /** Resolves when all lines so far are written. */
  flush(): Promise<void>
}

/** Size of a chunk. Passing a chunk to the writer wakes another thread, which costs as much as a hundred lines. */
const CHUNK_BYTES = 256 * 1024
const SPARE_CHUNKS_MAX = 4
/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const BYTES_PER_CHARACTER_MAX = 3
// If the reader stops reading, this much memory is used and then log lines are dropped. The gateway does not block.
const BACKLOG_BYTES_MAX = 8 * 1024 * 1024

/**
 * Collects lines and writes them in chunks: when a chunk is full, after the interval, and when the process exits or crashes with
 * an exception. Only a kill loses the lines of the last interval.
 */
export function createBufferedLines(options: {
  readonly destination: string | number
  readonly flushIntervalMs: number
}): BufferedLines {
  const destination = pino.destination({
    dest: options.destination,
    sync: false,
    // With a smaller value a flush does not wait for the write.
    minLength: 1,
    maxLength: BACKLOG_BYTES_MAX,
    contentMode: 'buffer',
    mkdir: true,
  })
  // Encode to bytes immediately, because the garbage collector would copy buffered strings again and again.
  let chunk: Buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let length = 0
  let isClosed = false
  destination.on('close', () => {
    isClosed = true
  })

  // Written chunks are reused, because otherwise they would stay until a full garbage collection, maybe minutes later.
  let unwrittenBytes = 0
  let handedOn: Buffer[] = []
  const spare: Buffer[] = []
  destination.on('write', (bytes: number) => {
    unwrittenBytes -= bytes
    if (unwrittenBytes !== 0) return
    spare.push(...handedOn.slice(0, SPARE_CHUNKS_MAX - spare.length))
    handedOn = []
  })
  // The types allow only text, but bytes work in this mode.
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
    // A dropped chunk is not referenced any more and can be reused immediately.
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

// Pipes and terminals cannot be synced to disk. They report it after everything is written.
function isUnsyncable(error: Error): boolean {
  return 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP')
}

const exits: (() => void)[] = []

// One listener for all logs, because Node warns about many listeners and tests open many logs.
function onExit(writeOut: () => void): void {
  if (exits.length === 0) process.on('exit', () => exits.forEach((exit) => exit()))
  exits.push(writeOut)
}

function writeRest(destination: { flushSync(): void }): void {
  try {
    destination.flushSync()
  } catch {
    // The process is exiting, so the error cannot be reported.
  }
}

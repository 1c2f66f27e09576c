import { pino } from 'pino'

/** Somewhere to write lines to that costs no system call a line. */
export interface BufferedLines {
  write(line: string): void
  /** Resolves when everything written so far has left the process. */
  flush(): Promise<void>
}

const CHUNK_CHARACTERS = 128 * 1024
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
    mkdir: true,
  })
  // Joined once a chunk: a destination that appends line by line measures its whole buffer again at each.
  let lines: string[] = []
  let characters = 0
  let isClosed = false
  destination.on('close', () => {
    isClosed = true
  })

  const handOn = () => {
    if (lines.length === 0 || isClosed) return
    destination.write(lines.join(''))
    lines = []
    characters = 0
  }
  setInterval(handOn, options.flushIntervalMs).unref()
  onExit(() => {
    handOn()
    if (!isClosed) writeRest(destination)
  })

  return {
    write: (line) => {
      lines.push(line)
      characters += line.length
      if (characters >= CHUNK_CHARACTERS) handOn()
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

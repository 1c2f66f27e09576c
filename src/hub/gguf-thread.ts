import { parentPort } from 'node:worker_threads'
import { GgufTooShort, readGgufHeader, type GgufBeginning } from './gguf-header.ts'

/** Parses GGUF headers in a worker thread, because a header with a large vocabulary takes more than a second. */
parentPort?.on('message', (beginning: GgufBeginning) => {
  readGgufHeader(beginning).then(
    (header) => parentPort?.postMessage(header, []),
    (error: unknown) =>
      parentPort?.postMessage(error instanceof GgufTooShort ? 'too short' : 'unreadable', []),
  )
})

parentPort?.postMessage('ready', [])

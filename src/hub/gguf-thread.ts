import { parentPort } from 'node:worker_threads'
import { GgufTooShort, readGgufHeader, type GgufBeginning } from './gguf-header.ts'

/** The thread that reads headers of GGUF files: one with a large vocabulary takes more than a second. */
parentPort?.on('message', (beginning: GgufBeginning) => {
  readGgufHeader(beginning).then(
    (header) => parentPort?.postMessage(header, []),
    (error: unknown) =>
      parentPort?.postMessage(error instanceof GgufTooShort ? 'too short' : 'unreadable', []),
  )
})

parentPort?.postMessage('ready', [])

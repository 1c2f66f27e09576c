import { parentPort } from 'node:worker_threads'
import { printDocument } from './print-document.ts'
import type { PrintedDocument } from './printed-document.ts'

/** The thread that prints documents, one at a time. */
parentPort?.on('message', (document: PrintedDocument) => {
  void printDocument(document).then((bytes) => parentPort?.postMessage(new Uint8Array(bytes), []))
})

parentPort?.postMessage('ready', [])

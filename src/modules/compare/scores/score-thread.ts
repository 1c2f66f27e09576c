import { parentPort } from 'node:worker_threads'
import { compareOutput, type Comparison } from './compare-output.ts'

/** The thread that compares answers with their expectations, one at a time. */
parentPort?.on('message', (comparison: Comparison) => {
  parentPort?.postMessage(compareOutput(comparison), [])
})

parentPort?.postMessage('ready', [])

import { parentPort } from 'node:worker_threads'
import { AppError } from '../../../kernel/app-error.ts'
import { readDatasetFile } from './dataset-file.ts'

/** A file as it was uploaded. */
export interface DatasetText {
  readonly text: string
  readonly format: 'csv' | 'jsonl'
}

/** The prompts, or why the file cannot be read. */
export type ReadDataset = { readonly prompts: unknown[] } | { readonly problem: string }

/** The thread that reads files of prompts, one at a time. */
parentPort?.on('message', ({ text, format }: DatasetText) => {
  parentPort?.postMessage(read(text, format), [])
})

parentPort?.postMessage('ready', [])

function read(text: string, format: DatasetText['format']): ReadDataset {
  try {
    return { prompts: readDatasetFile(text, format) }
  } catch (error) {
    if (error instanceof AppError) return { problem: error.message }
    throw error
  }
}

import type { PromptCase } from './prompt-case.ts'

/** A pack of prompts that runs are made of. A change of its prompts makes another version. */
export interface Dataset {
  readonly id: string
  readonly name: string
  readonly description: string | null
  /** A hash of the prompts. */
  readonly version: string
  readonly promptsTotal: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface DatasetContent extends Dataset {
  readonly prompts: readonly PromptCase[]
}

export interface DatasetDraft {
  readonly name: string
  readonly description: string | null
  readonly prompts: readonly PromptCase[]
}

/** What is not named stays as it is. */
export type DatasetChanges = Partial<DatasetDraft>

export interface DatasetVersion {
  readonly version: string
  readonly promptsTotal: number
  readonly createdAt: Date
}

import type { PromptCase } from '../prompt-case.ts'

/** A versioned set of prompts for runs. */
export interface Dataset {
  readonly id: string
  /** Null is the project `Default`. */
  readonly projectId: string | null
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

/** Omitted members stay unchanged. */
export type DatasetChanges = Partial<DatasetDraft>

export interface DatasetVersion {
  readonly version: string
  readonly promptsTotal: number
  readonly createdAt: Date
}

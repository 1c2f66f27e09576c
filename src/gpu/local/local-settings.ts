/** What the operator says of the engines of this machine. */
export interface LocalSettings {
  /** Empty for llama.cpp, which serves GGUF files. */
  readonly command: EngineCommand
  /** Variables that every engine gets, besides those that it inherits. */
  readonly environment: Readonly<Record<string, string>>
  /** Names of variables that an account may set for its engine. */
  readonly accountVariables: readonly string[]
  /** Where the files of models lie, as `<owner>/<name>`; null for those that are fetched from the hub. */
  readonly modelsDirectory: string | null
  readonly healthPath: string
  /** Whether a short chat has to be answered before an engine is ready. */
  readonly warmsUp: boolean
  /** A ready engine that answers no health check for so long is started again; 0 for never. */
  readonly hangMs: number
  /** Of the built-in engine. */
  readonly llamaCpp: LlamaCppSettings
  /** The first and the last port of 127.0.0.1 that engines listen on. */
  readonly ports: readonly [number, number]
  /** From SIGTERM to SIGKILL. */
  readonly stopGraceMs: number
  /** By id; null for what is found on the machine. */
  readonly tiers: Readonly<Record<string, LocalTierSettings>> | null
}

interface LlamaCppSettings {
  /** Requests at once; each has a context of its own. */
  readonly parallel: number
  /** Null for as many as are of use. */
  readonly threads: number | null
}

/** Arguments in turn, never a shell's text. A group is left out where one of its placeholders has no value. */
export type EngineCommand = readonly (string | readonly string[])[]

export interface LocalTierSettings {
  readonly pricePerHourUsd: number
  /** How many at once, where it has no GPUs. */
  readonly count: number
  /** GPUs of one instance; 0 for the processor. */
  readonly gpuCount: number
  /** Indexes of the GPUs that this tier may take; null for all. */
  readonly gpus: readonly number[] | null
  /** How many instances share a GPU. */
  readonly sharedBy: number
  /** Of all GPUs of an instance together, or of the machine; null for what is found. */
  readonly memoryGb: number | null
  /** Main memory that an engine may take before it is ended; null for any. */
  readonly ramGb: number | null
  /** Null for the same as other tiers. */
  readonly command: EngineCommand | null
}

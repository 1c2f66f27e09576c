/** The operator's settings for engines on this machine. */
export interface LocalSettings {
  /** System user of engines if the gateway is root. If null, one that owns nothing. */
  readonly user: string | null
  /** Whether engines run in a sandbox: if the machine has one, always, or never. */
  readonly sandbox: 'auto' | 'required' | 'off'
  /** Paths in hidden directories that an engine in a sandbox may read. */
  readonly readablePaths: readonly string[]
  /** Directories that an engine in a sandbox may write, beside its own. */
  readonly writablePaths: readonly string[]
  /** Command of the engine. Empty for the built-in llama.cpp engine, which serves GGUF files. */
  readonly command: EngineCommand
  /** Variables of every engine, in addition to the inherited ones. */
  readonly environment: Readonly<Record<string, string>>
  /** Names of variables that an account may set for its engine. */
  readonly accountVariables: readonly string[]
  /** Directory with model files in `<owner>/<name>`. If null, models are fetched from the hub. */
  readonly modelsDirectory: string | null
  readonly healthPath: string
  /** Whether an engine has to answer a short chat request before it is ready. A 4xx answer is enough. */
  readonly warmsUp: boolean
  /** A ready engine that answers no health check for this long is restarted. 0 disables the check. */
  readonly hangMs: number
  /** Settings of the built-in engine. */
  readonly llamaCpp: LlamaCppSettings
  /** The first and the last port of 127.0.0.1 that engines listen on. */
  readonly ports: readonly [number, number]
  /** Time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number
  /** Tiers by id. If null, they follow from the GPUs found on the machine. */
  readonly tiers: Readonly<Record<string, LocalTierSettings>> | null
}

interface LlamaCppSettings {
  /** Number of concurrent requests. Each has its own context. */
  readonly parallel: number
  /** If null, the number of cores, or 1 for very small models. */
  readonly threads: number | null
}

/** The argument list, not a shell command. A group is left out if one of its placeholders has no value. */
export type EngineCommand = readonly (string | readonly string[])[]

export interface LocalTierSettings {
  readonly pricePerHourUsd: number
  /** Number of concurrent instances. Used only for tiers without GPUs. */
  readonly count: number
  /** GPUs of one instance. 0 for a CPU tier. */
  readonly gpuCount: number
  /** Indexes of the GPUs that this tier may use, or null for all. */
  readonly gpus: readonly number[] | null
  /** How many instances share a GPU. */
  readonly sharedBy: number
  /** Memory of all GPUs of an instance together, or main memory for a CPU tier. If null, it is detected. */
  readonly memoryGb: number | null
  /** Main memory limit of an engine, which is killed above it. If null, the memory of a CPU tier, or no limit with GPUs. */
  readonly ramGb: number | null
  /** If null, the command of the settings is used. */
  readonly command: EngineCommand | null
}

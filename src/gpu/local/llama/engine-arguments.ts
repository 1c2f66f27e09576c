import { parseArgs } from 'node:util'

/** The command-line arguments of the engine. */
export interface EngineArguments {
  /** The GGUF file, or the first file of a split model. */
  readonly modelPath: string
  /** The model name in responses. */
  readonly alias: string
  readonly port: number
  /** Context size of one request in tokens. If null, the model's trained context, limited to a default. */
  readonly contextSize: number | null
  /** Number of concurrent requests. */
  readonly parallel: number
  /** If null, the number of cores, or 1 for very small models. */
  readonly threads: number | null
  readonly usesGpu: boolean
}

const PARALLEL_MAX = 64
const THREADS_MAX = 1_024

/** Parses the arguments. Throws for an unknown or missing option, or a value out of range. */
export function parseEngineArguments(argv: readonly string[]): EngineArguments {
  const { values } = parseArgs({
    args: [...argv],
    strict: true,
    allowPositionals: false,
    options: {
      model: { type: 'string' },
      alias: { type: 'string' },
      port: { type: 'string' },
      'ctx-size': { type: 'string' },
      parallel: { type: 'string' },
      threads: { type: 'string' },
      gpu: { type: 'boolean' },
    },
  })
  const { model, alias, port } = values
  if (model === undefined || alias === undefined || port === undefined)
    throw new Error('--model, --alias and --port are needed')
  return {
    modelPath: model,
    alias,
    port: readInteger('--port', port, 65_535),
    contextSize: readOptional('--ctx-size', values['ctx-size'], Number.MAX_SAFE_INTEGER),
    parallel: readOptional('--parallel', values.parallel, PARALLEL_MAX) ?? 1,
    threads: readOptional('--threads', values.threads, THREADS_MAX),
    usesGpu: values.gpu ?? false,
  }
}

function readOptional(name: string, text: string | undefined, maximum: number): number | null {
  return text === undefined ? null : readInteger(name, text, maximum)
}

function readInteger(name: string, text: string, maximum: number): number {
  const value = Number(text)
  if (!/^\d{1,16}$/.test(text) || value < 1 || value > maximum)
    throw new Error(`${name} must be an integer from 1 to ${maximum}`)
  return value
}

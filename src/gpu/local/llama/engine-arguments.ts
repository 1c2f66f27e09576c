import { parseArgs } from 'node:util'

/** What the engine is told by its command line. */
export interface EngineArguments {
  /** The GGUF file, the first one where it is split. */
  readonly modelPath: string
  /** The name that answers carry. */
  readonly alias: string
  readonly port: number
  /** The context of one request; null for what the model was trained on, up to a limit. */
  readonly contextSize: number | null
  /** Requests at once. */
  readonly parallel: number
  /** Null for as many as are of use. */
  readonly threads: number | null
  readonly usesGpu: boolean
}

const PARALLEL_MAX = 64
const THREADS_MAX = 1_024

/** Throws for anything but known options with values in range. */
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

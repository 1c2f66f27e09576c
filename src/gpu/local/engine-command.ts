import { findPackageJSON } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isOrderSafe, pickVariables } from '../check-order.ts'
import type { LaunchOrder } from '../gpu-driver.ts'
import type { EngineCommand, LocalSettings } from './local-settings.ts'

interface CommandOptions {
  readonly order: LaunchOrder
  readonly command: EngineCommand
  /** Paths of the model files. Null for an engine that downloads the model itself. */
  readonly model: { readonly directory: string | null; readonly ggufPath: string | null }
  readonly port: number
  readonly gpus: readonly number[]
}

/** Fills the placeholders of the operator's command. Returns null for an unsafe order or an empty command. */
export function writeCommand({ order, command, model, port, gpus }: CommandOptions): string[] | null {
  const { huggingfaceId, revision, quantization, maxModelLen } = order
  if (!isOrderSafe(order)) return null
  const values: Readonly<Record<string, string | null>> = {
    model: huggingfaceId,
    model_path: model.directory,
    model_file: model.ggufPath,
    port: String(port),
    max_model_len: maxModelLen === null ? null : String(maxModelLen),
    revision,
    quantization: quantization === 'auto' ? null : quantization,
    gpus: gpus.length === 0 ? null : gpus.join(','),
    gpu_count: gpus.length === 0 ? null : String(gpus.length),
  }
  const argv = command.flatMap((part) => {
    const group = typeof part === 'string' ? [part] : part
    const isWhole = group.every((text) => placeholdersOf(text).every((name) => values[name] !== null))
    return isWhole ? group.map((text) => text.replaceAll(PLACEHOLDER, (_, name) => values[name] ?? '')) : []
  })
  return argv.length === 0 ? null : argv
}

export const PLACEHOLDERS = [
  'model',
  'model_path',
  'model_file',
  'port',
  'max_model_len',
  'revision',
  'quantization',
  'gpus',
  'gpu_count',
] as const
const PLACEHOLDER = /\{([a-z_]+)\}/g

export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap(([, name]) => name ?? [])
}

/** The program of the built-in engine. */
export const LLAMA_ENGINE = fileURLToPath(new URL('llama/llama-engine.ts', import.meta.url))

/** Whether the built-in engine can run here. Its package is large, and an installed package of the gateway does not bring it. */
export function hasLlamaEngine(): boolean {
  try {
    return findPackageJSON('node-llama-cpp', import.meta.url) !== undefined
  } catch {
    return false
  }
}

interface LlamaCommandOptions {
  readonly order: LaunchOrder
  readonly ggufPath: string
  readonly settings: LocalSettings['llamaCpp']
  readonly port: number
  readonly gpus: readonly number[]
}

/** Writes the command of the built-in engine. Returns null for an unsafe order. */
export function writeLlamaCommand(options: LlamaCommandOptions): string[] | null {
  const { order, ggufPath, settings, port, gpus } = options
  if (!isOrderSafe(order)) return null
  return [
    process.execPath,
    LLAMA_ENGINE,
    `--model=${ggufPath}`,
    `--alias=${order.huggingfaceId}`,
    `--port=${port}`,
    `--parallel=${settings.parallel}`,
    ...(order.maxModelLen === null ? [] : [`--ctx-size=${order.maxModelLen}`]),
    ...(settings.threads === null ? [] : [`--threads=${settings.threads}`]),
    ...(gpus.length === 0 ? [] : ['--gpu']),
  ]
}

interface EnvironmentOptions {
  readonly order: LaunchOrder
  readonly settings: Pick<LocalSettings, 'environment' | 'accountVariables'>
  /** The few variables of the gateway's environment that every program needs. */
  readonly inherited: Readonly<Record<string, string>>
  readonly gpus: readonly number[]
}

export interface EngineEnvironment {
  readonly environment: Readonly<Record<string, string>>
  /** Variables of the account that the operator does not allow. */
  readonly leftOut: readonly string[]
}

/** Writes the engine's environment. The operator's variables override the account's. The engine sees only its own GPUs. */
export function writeEnvironment(options: EnvironmentOptions): EngineEnvironment {
  const { order, settings, inherited, gpus } = options
  const given = pickVariables(order, settings.accountVariables)
  return {
    environment: {
      ...given.environment,
      ...inherited,
      ...settings.environment,
      CUDA_VISIBLE_DEVICES: gpus.join(','),
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    },
    leftOut: given.leftOut,
  }
}

import { join } from 'node:path'
import { isOrderSafe, pickVariables } from '../check-order.ts'
import type { LaunchOrder } from '../gpu-driver.ts'
import type { EngineCommand, LocalSettings } from './local-settings.ts'

interface CommandOptions {
  readonly order: LaunchOrder
  readonly command: EngineCommand
  readonly settings: Pick<LocalSettings, 'modelsDirectory'>
  readonly port: number
  readonly gpus: readonly number[]
}

/** Null for an order that no command is made of. */
export function writeCommand({ order, command, settings, port, gpus }: CommandOptions): string[] | null {
  const { huggingfaceId, revision, quantization, maxModelLen } = order
  if (!isOrderSafe(order)) return null
  const values: Readonly<Record<string, string | null>> = {
    model: huggingfaceId,
    model_path:
      settings.modelsDirectory === null ? null : join(settings.modelsDirectory, ...huggingfaceId.split('/')),
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

interface EnvironmentOptions {
  readonly order: LaunchOrder
  readonly settings: Pick<LocalSettings, 'environment' | 'accountVariables'>
  /** Of the gateway: nothing but what every program needs. */
  readonly inherited: Readonly<Record<string, string>>
  readonly gpus: readonly number[]
}

export interface EngineEnvironment {
  readonly environment: Readonly<Record<string, string>>
  /** Variables of the account that the operator does not allow. */
  readonly leftOut: readonly string[]
}

/** The operator's variables count more than the account's. No GPU is seen but its own. */
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

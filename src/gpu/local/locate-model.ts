import { join } from 'node:path'
import { isOrderSafe } from '../check-order.ts'
import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { placeholdersOf } from './engine-command.ts'
import { findGgufFile } from './find-gguf-file.ts'
import type { EngineCommand, LocalSettings } from './local-settings.ts'
import type { FetchedModel, ModelFiles } from '../model-files.ts'

/** The paths of a model, or the state of its download. Paths are null if the engine needs none. */
export type LocatedModel =
  | Exclude<FetchedModel, { readonly state: 'ready' }>
  | { readonly state: 'ready'; readonly directory: string | null; readonly ggufPath: string | null }

interface LocateOptions {
  readonly order: Omit<LaunchOrder, 'hubToken'>
  readonly command: EngineCommand
  readonly settings: Pick<LocalSettings, 'modelsDirectory'>
  /** Null if models cannot be fetched. */
  readonly files: ModelFiles | null
  /** Reads the account's hub token. Null if the account has given none. */
  readonly readToken: (() => Promise<string | null>) | null
  /** Whether the account may use the operator's hub token. */
  readonly mayUseHubToken: () => Promise<boolean>
}

/**
 * Locates the files of a model in the operator's directory or, without one, fetches them from the hub. An engine whose command
 * names no model files downloads them itself.
 */
export async function locateModel({
  order,
  command,
  settings,
  files,
  readToken,
  mayUseHubToken,
}: LocateOptions): Promise<LocatedModel> {
  const names = command.flat().flatMap(placeholdersOf)
  const needsGguf = command.length === 0 || names.includes('model_file')
  if (!needsGguf && !names.includes('model_path')) return { state: 'ready', directory: null, ggufPath: null }
  if (!isOrderSafe(order)) return { state: 'failed', failure: NOT_USABLE }
  const { huggingfaceId, revision, quantization } = order
  const found = await find()
  if (found.state !== 'ready' || !needsGguf || found.ggufPath !== null) return found
  return { state: 'failed', failure: NO_GGUF }

  async function find(): Promise<LocatedModel> {
    if (settings.modelsDirectory === null) {
      if (files === null) return { state: 'failed', failure: NO_FILES }
      const hubToken = readToken === null ? null : await readToken()
      if (readToken !== null && hubToken === null) return { state: 'failed', failure: NO_TOKEN }
      const asOperator = hubToken === null && (await mayUseHubToken())
      return files.fetch({ huggingfaceId, revision, quantization, hubToken, asOperator, isGguf: needsGguf })
    }
    const directory = join(settings.modelsDirectory, ...huggingfaceId.split('/'))
    return {
      state: 'ready',
      directory,
      ggufPath: needsGguf ? await findGgufFile(directory, quantization) : null,
    }
  }
}

export const NOT_USABLE: InstanceFailure = {
  code: 'model_unsupported',
  message: 'The model, its revision or its quantization cannot be given to an engine here.',
}
const NO_GGUF: InstanceFailure = {
  code: 'model_unsupported',
  message: 'The model has no GGUF file with this quantization, and this machine serves no others.',
}
const NO_TOKEN: InstanceFailure = {
  code: 'model_gated',
  message:
    'The hub token of the deployment cannot be read any more. Create the deployment again with its token.',
}
const NO_FILES: InstanceFailure = {
  code: 'model_unsupported',
  message: 'This machine does not fetch models from the hub.',
}

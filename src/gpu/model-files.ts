import type { InstanceFailure, LaunchOrder } from './gpu-driver.ts'

/** Downloads model files to this machine. */
export interface ModelFiles {
  /** Returns the state of a model's download and starts the download if none is running. May be polled by several processes. */
  fetch(wanted: WantedModel): Promise<FetchedModel>
}

export interface WantedModel extends Pick<
  LaunchOrder,
  'huggingfaceId' | 'revision' | 'quantization' | 'hubToken'
> {
  /** Whether the operator's hub token may be used where the account has given none. */
  readonly asOperator: boolean
  /** Whether the engine needs GGUF files. */
  readonly isGguf: boolean
}

export type FetchedModel =
  | { readonly state: 'fetching'; readonly progress: number }
  | { readonly state: 'ready'; readonly directory: string; readonly ggufPath: string | null }
  | { readonly state: 'failed'; readonly failure: InstanceFailure }

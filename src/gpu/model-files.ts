import type { InstanceFailure, LaunchOrder } from './gpu-driver.ts'

/** Where the files of models come from when they do not lie on this machine yet. */
export interface ModelFiles {
  /** Tells how far the files of a model are, and begins to fetch them where nobody does. Any process may ask, again and again. */
  fetch(wanted: WantedModel): Promise<FetchedModel>
}

export interface WantedModel extends Pick<
  LaunchOrder,
  'huggingfaceId' | 'revision' | 'quantization' | 'hubToken'
> {
  /** Whether only GGUF files are of use. */
  readonly isGguf: boolean
}

export type FetchedModel =
  | { readonly state: 'fetching'; readonly progress: number }
  | { readonly state: 'ready'; readonly directory: string; readonly ggufPath: string | null }
  | { readonly state: 'failed'; readonly failure: InstanceFailure }

import type { Category } from '../catalog/catalog.ts'
import type { MediaKind } from '../media/media.ts'
import type { GenerationType } from './generation-request.ts'
import type { WorkKind } from './work-operation.ts'

export interface GenerationKind {
  readonly work: WorkKind
  readonly category: Category
  /** The kind of the files it creates. */
  readonly media: MediaKind
  /** Overrides the delivery mode in the catalog. */
  readonly isAlwaysTask: boolean
  /** The usual duration. */
  readonly expectedMs: number
}

const AT_ONCE = { media: 'image', isAlwaysTask: false } as const

export const GENERATION_KINDS: Readonly<Record<GenerationType, GenerationKind>> = {
  image: { ...AT_ONCE, work: 'image', category: 'image', expectedMs: 12_000 },
  edit: { ...AT_ONCE, work: 'image', category: 'image', expectedMs: 20_000 },
  upscale: { ...AT_ONCE, work: 'upscale', category: 'upscale', expectedMs: 25_000 },
  bg_remove: { ...AT_ONCE, work: 'bg_remove', category: 'bg_remove', expectedMs: 6_000 },
  video: { work: 'video', category: 'video', media: 'video', isAlwaysTask: true, expectedMs: 90_000 },
  music: { work: 'music', category: 'music', media: 'audio', isAlwaysTask: true, expectedMs: 40_000 },
  tts: { work: 'speech', category: 'tts', media: 'audio', isAlwaysTask: true, expectedMs: 6_000 },
}

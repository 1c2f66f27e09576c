import type { KeepOrder, MediaKind } from './media-order.ts'

const MEGABYTE = 1_000_000

/** The largest file that a client may upload. */
const INPUT_BYTES_MAX: Readonly<Record<MediaKind, number>> = {
  image: 20 * MEGABYTE,
  audio: 25 * MEGABYTE,
  video: 100 * MEGABYTE,
}

/** The largest file that is accepted from an upstream. */
const RESULT_BYTES_MAX = 512 * MEGABYTE

export function bytesMaxOf({
  purpose,
  kind,
  bytesMax,
}: Pick<KeepOrder, 'purpose' | 'kind' | 'bytesMax'>): number {
  return bytesMax ?? (purpose === 'result' ? RESULT_BYTES_MAX : INPUT_BYTES_MAX[kind])
}

import type Sharp from 'sharp'

let loading: Promise<typeof Sharp> | null = null

/** Loads the library at the first use, because a gateway that does not create images never needs it. */
export function loadSharp(): Promise<typeof Sharp> {
  loading ??= import('sharp').then(({ default: sharp }) => {
    // Each image is requested only once, so a cache would waste memory.
    sharp.cache(false)
    return sharp
  })
  return loading
}

import type Sharp from 'sharp'

let loading: Promise<typeof Sharp> | null = null

/** Loaded at the first use: a gateway that serves no pictures of its own never needs the library. */
export function loadSharp(): Promise<typeof Sharp> {
  loading ??= import('sharp').then(({ default: sharp }) => {
    // Every picture is asked for once, so what the library would keep for a second time is only memory.
    sharp.cache(false)
    return sharp
  })
  return loading
}

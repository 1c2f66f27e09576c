import type { Config } from '../settings/config.ts'

const PUBLIC_HUB = 'https://huggingface.co'

/** The hub that models are read from, without a slash at the end. */
export function hubEndpoint({ hfEndpoint }: Pick<Config, 'hfEndpoint'>): string {
  return (hfEndpoint ?? PUBLIC_HUB).replace(/\/+$/, '')
}

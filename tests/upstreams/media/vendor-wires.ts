import { alibabaWire } from './alibaba-wire.ts'
import { blackForestLabsWire } from './black-forest-labs-wire.ts'
import { bytedanceWire } from './bytedance-wire.ts'
import { falWire } from './fal-wire.ts'
import { fireworksWire } from './fireworks-wire.ts'
import { googleMediaWire } from './google-media-wire.ts'
import { klingaiWire } from './klingai-wire.ts'
import { lumaWire } from './luma-wire.ts'
import { minimaxWire } from './minimax-wire.ts'
import { openAiImageWire } from './openai-image-wire.ts'
import { replicateWire } from './replicate-wire.ts'
import { togetherWire } from './together-wire.ts'
import type { VendorWire } from './vendor-server.ts'
import { xaiWire } from './xai-wire.ts'

/** The local vendors of images and videos by provider, with the path of an operator's base URL. */
export const VENDOR_WIRES: Readonly<Record<string, { wire: VendorWire; basePath: string }>> = {
  alibaba: { wire: alibabaWire, basePath: '' },
  'black-forest-labs': { wire: blackForestLabsWire, basePath: '/v1' },
  bytedance: { wire: bytedanceWire, basePath: '/api/v3' },
  fal: { wire: falWire, basePath: '' },
  fireworks: { wire: fireworksWire, basePath: '/inference/v1' },
  google: { wire: googleMediaWire, basePath: '/v1beta' },
  klingai: { wire: klingaiWire, basePath: '' },
  luma: { wire: lumaWire, basePath: '' },
  minimax: { wire: minimaxWire, basePath: '/v1' },
  openai: { wire: openAiImageWire, basePath: '/v1' },
  replicate: { wire: replicateWire, basePath: '/v1' },
  together: { wire: togetherWire, basePath: '/v1' },
  xai: { wire: xaiWire, basePath: '/v1' },
}

/** A key that every local vendor accepts. Kling reads it as two keys. */
export const VENDOR_KEY = 'ak-1:sk-1'

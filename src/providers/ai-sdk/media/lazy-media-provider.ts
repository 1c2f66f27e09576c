import type { MediaCall, MediaOperation } from '../../media/media-operation.ts'
import type { Provider } from '../../provider.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import type { MediaVendor } from './media-operation-over-wire.ts'

type WorkOf<Operation> = Operation extends MediaOperation<infer Work> ? Work : never

type MediaMember = 'image' | 'upscale' | 'backgroundRemoval' | 'video'

/** Loaders for the wire of each operation. */
export type MediaLoaders = {
  readonly [Member in MediaMember]?: LazyVendor<WorkOf<NonNullable<Provider[Member]>>>
}

interface LazyVendor<Work> {
  /** Whether the vendor can look up the job of a submission whose response was lost. */
  readonly canFind?: boolean
  readonly load: () => Promise<MediaVendor<Work>>
}

/** Creates operations whose code is loaded by their first call, because loading a vendor's package slows down startup. */
export function createLazyMediaProvider(
  id: string,
  options: AiSdkProviderOptions,
  { image, upscale, backgroundRemoval, video }: MediaLoaders,
): Provider {
  return {
    id,
    isConfigured: options.apiKeys.length > 0,
    ...(image === undefined ? {} : { image: createLazyOperation(image, options) }),
    ...(upscale === undefined ? {} : { upscale: createLazyOperation(upscale, options) }),
    ...(backgroundRemoval === undefined
      ? {}
      : { backgroundRemoval: createLazyOperation(backgroundRemoval, options) }),
    ...(video === undefined ? {} : { video: createLazyOperation(video, options) }),
  }
}

function createLazyOperation<Work>(
  { load, canFind = false }: LazyVendor<Work>,
  options: AiSdkProviderOptions,
): MediaOperation<Work> {
  const build = async () => {
    const [{ createMediaOperation }, vendor] = await Promise.all([
      import('./media-operation-over-wire.ts'),
      load(),
    ])
    return createMediaOperation(vendor, options)
  }
  let built: ReturnType<typeof build> | undefined
  const operation = () => (built ??= build())
  return {
    start: async (call) => (await operation()).start(call),
    check: async (call) => (await operation()).check(call),
    cancel: async (call) => (await operation()).cancel(call),
    ...(canFind ? { find: async (call: MediaCall<Work>) => (await operation()).find(call) } : {}),
  }
}

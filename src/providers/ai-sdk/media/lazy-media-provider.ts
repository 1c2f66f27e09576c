import type { MediaCall, MediaOperation } from '../../media-operation.ts'
import type { Provider } from '../../provider.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import type { MediaVendor } from './media-operation-over-wire.ts'

type WorkOf<Operation> = Operation extends MediaOperation<infer Work> ? Work : never

type MediaMember = 'image' | 'upscale' | 'backgroundRemoval' | 'video'

/** How the wire of each operation is loaded. */
export type MediaLoaders = {
  readonly [Member in MediaMember]?: LazyVendor<WorkOf<NonNullable<Provider[Member]>>>
}

interface LazyVendor<Work> {
  /** Whether the vendor can be asked for the job of a submission whose answer never came. */
  readonly canFind?: boolean
  readonly load: () => Promise<MediaVendor<Work>>
}

/** Operations whose code loads with their first call: a vendor's package costs a start too much. */
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

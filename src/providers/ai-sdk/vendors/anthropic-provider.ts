import type { Provider } from '../../provider.ts'
import { createLazyProvider, type AiSdkProviderOptions } from '../lazy-provider.ts'

/** Claude models over Anthropic's Messages API. */
export function createAnthropicProvider(options: AiSdkProviderOptions): Provider {
  return createLazyProvider(
    'anthropic',
    options,
    async () => {
      const [{ createAiSdkChat }, { anthropicVendor }] = await Promise.all([
        import('../ai-sdk-chat.ts'),
        import('./anthropic-vendor.ts'),
      ])
      return createAiSdkChat(anthropicVendor, options)
    },
    'streams stop',
  )
}

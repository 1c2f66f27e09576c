import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const klingai: VendorDescriptor = {
  id: 'klingai',
  keys: { prefix: 'KLINGAI', apiKey: ['KLINGAI_ACCESS_KEY'], secretKey: 'KLINGAI_SECRET_KEY' },
  media: {
    video: {
      canFind: true,
      load: async () => (await import('../ai-sdk/media/vendors/klingai-vendor.ts')).klingaiVideos,
    },
  },
}

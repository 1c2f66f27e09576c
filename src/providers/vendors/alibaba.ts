import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const alibaba: VendorDescriptor = {
  id: 'alibaba',
  keys: { prefix: 'ALIBABA', apiKey: ['ALIBABA_API_KEY', 'DASHSCOPE_API_KEY'] },
  media: {
    video: { load: async () => (await import('../ai-sdk/media/vendors/alibaba-vendor.ts')).alibabaVideos },
  },
}

import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const dashscope: VendorDescriptor = {
  id: 'dashscope',
  keys: { prefix: 'DASHSCOPE', apiKey: ['DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'] },
  wire: {
    defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
    thinkMembers: () => ({ enable_thinking: true }),
  },
}

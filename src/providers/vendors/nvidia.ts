import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Models that NVIDIA hosts. A NIM of one's own is a server of one's own. https://docs.api.nvidia.com/nim/reference/llm-apis */
export const nvidia: VendorDescriptor = {
  id: 'nvidia',
  keys: { prefix: 'NVIDIA', apiKey: ['NVIDIA_API_KEY', 'NVIDIA_NIM_API_KEY'] },
  wire: {
    defaultBaseUrl: 'https://integrate.api.nvidia.com/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}

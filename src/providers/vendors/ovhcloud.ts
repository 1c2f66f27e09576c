import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** OVHcloud AI Endpoints. https://help.ovhcloud.com/csm/en-public-cloud-ai-endpoints-getting-started */
export const ovhcloud: VendorDescriptor = {
  id: 'ovhcloud',
  keys: { prefix: 'OVHCLOUD', apiKey: ['OVHCLOUD_API_KEY', 'OVH_AI_ENDPOINTS_ACCESS_TOKEN'] },
  wire: {
    defaultBaseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}

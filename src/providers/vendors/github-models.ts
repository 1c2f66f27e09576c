import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** GitHub Models. The token needs the permission `models: read`. https://docs.github.com/rest/models/inference */
export const githubModels: VendorDescriptor = {
  id: 'github-models',
  keys: { prefix: 'GITHUB_MODELS' },
  wire: {
    defaultBaseUrl: 'https://models.github.ai/inference',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}

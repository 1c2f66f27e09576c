import { listVertexModels } from '../clouds/vertex/vertex-model-pages.ts'
import { isClaude } from '../clouds/vertex/vertex-models.ts'
import { createVertexProvider } from '../clouds/vertex/vertex-provider.ts'
import { googleSignIn } from '../sign-in/google-sign-in.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Google Vertex AI. https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
export const vertex: VendorDescriptor = {
  id: 'vertex',
  keys: { prefix: 'VERTEX' },
  traceName: 'gcp.vertex_ai',
  signIn: googleSignIn,
  addressForm: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}',
  modelPages: listVertexModels,
  lacksChoices: true,
  // The factors of Claude.
  cachePrices: { read: 10n, write: 125n, hourWrite: 200n },
  hasCachePrices: isClaude,
  adapters: [createVertexProvider],
}

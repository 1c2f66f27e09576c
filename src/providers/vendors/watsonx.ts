import { ibmSignIn } from '../sign-in/ibm-sign-in.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** The model gateway of IBM watsonx. https://www.ibm.com/docs/en/watsonx/saas?topic=generation-inferencing-gateway-models */
export const watsonx: VendorDescriptor = {
  id: 'watsonx',
  keys: { prefix: 'WATSONX', apiKey: ['WATSONX_API_KEY', 'WATSONX_APIKEY'] },
  traceName: 'ibm.watsonx.ai',
  signIn: ibmSignIn,
  wire: {
    defaultBaseUrl: 'https://{region}.ml.cloud.ibm.com/ml/gateway/v1',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
  },
}

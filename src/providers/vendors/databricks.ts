import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Databricks Model Serving. The names of models are those of serving endpoints. https://docs.databricks.com/machine-learning/model-serving/score-foundation-models */
export const databricks: VendorDescriptor = {
  id: 'databricks',
  keys: { prefix: 'DATABRICKS', apiKey: ['DATABRICKS_API_KEY', 'DATABRICKS_TOKEN'] },
  wire: {
    defaultBaseUrl: 'https://{workspace}/serving-endpoints',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}

import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Snowflake Cortex. The key is a programmatic access token. https://docs.snowflake.com/user-guide/snowflake-cortex/cortex-rest-api */
export const snowflake: VendorDescriptor = {
  id: 'snowflake',
  keys: { prefix: 'SNOWFLAKE', apiKey: ['SNOWFLAKE_API_KEY', 'SNOWFLAKE_PAT'] },
  wire: {
    defaultBaseUrl: 'https://{account}.snowflakecomputing.com/api/v2/cortex/v1',
    lacksDeveloperRole: true,
  },
}

import { expect, test } from 'vitest'
import { listBedrockModels } from './bedrock-model-pages.ts'

test.each([
  ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'https://bedrock.eu-west-1.amazonaws.com'],
  ['https://bedrock-runtime-fips.us-east-1.amazonaws.com', 'https://bedrock-fips.us-east-1.amazonaws.com'],
  ['http://localhost:4566', 'http://localhost:4566'],
])('models of %s are listed at %s', (address, expected) => {
  const urls = listBedrockModels(address).map(({ url }) => url.slice(0, expected.length + 1))
  expect(urls).toEqual(Array(3).fill(`${expected}/`))
})

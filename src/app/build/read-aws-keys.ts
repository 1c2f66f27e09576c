import type { AwsCredentials } from '../../providers/sign-in/sign-aws-request.ts'
import type { Config } from '../settings/config.ts'

/** Returns the keys that the operator configured, or null if the machine signs in by itself. */
export function readAwsKeys({
  awsAccessKeyId,
  awsSecretAccessKey,
  awsSessionToken,
}: Config): AwsCredentials | null {
  if (awsAccessKeyId === null || awsSecretAccessKey === null) return null
  return {
    accessKeyId: awsAccessKeyId,
    secretAccessKey: awsSecretAccessKey,
    ...(awsSessionToken === null ? {} : { sessionToken: awsSessionToken }),
  }
}

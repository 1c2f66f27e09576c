import { listSetting, optionalTextSetting, urlSetting } from './setting.ts'

/** Settings for secrets that are stored, and for those that are kept elsewhere. */
export const SECRET_SETTINGS = {
  sealingKey: optionalTextSetting({
    environment: 'PARKWAY_SEALING_KEY',
    description:
      'Encrypts tokens that accounts give their deployments, keys of providers, and stored bodies. Without it `sealing.key` in the data directory does. Set it where several machines share a database.',
    isSecret: true,
  }),
  otherSealingKey: optionalTextSetting({
    environment: 'PARKWAY_OTHER_SEALING_KEY',
    description:
      'A second key that opens secrets and never seals: while the sealing key is replaced, the next one, and then the one before.',
    isSecret: true,
  }),
  costKeys: listSetting(
    {
      environment: 'PARKWAY_COST_KEYS',
      description:
        "Keys of administrators, with which `parkway reconcile` reads what vendors billed: `name=key`, where the name is a provider's. See [pricing](pricing.md#what-vendors-billed).",
      isSecret: true,
    },
    { allowed: '`name=key`', isAllowed: (entry) => /^[a-z0-9][\w.-]*=\S+$/i.test(entry) },
  ),
  referenceDirectories: listSetting({
    environment: 'PARKWAY_REFERENCE_DIRECTORIES',
    description:
      'The directories from which keys of providers may be read by `file:/path`; only `/run/secrets` without it.',
  }),
  vaultAddress: urlSetting(
    {
      environment: 'VAULT_ADDR',
      description:
        'A HashiCorp Vault or OpenBao from which keys of providers may be read by `vault:path#field`.',
    },
    ['http:', 'https:'],
  ),
  vaultToken: optionalTextSetting({
    environment: 'VAULT_TOKEN',
    description: 'The token for it.',
    isSecret: true,
  }),
  vaultTokenFile: optionalTextSetting({
    environment: 'PARKWAY_VAULT_TOKEN_FILE',
    description:
      'The file with the token, such as the sink of a Vault agent, instead of `VAULT_TOKEN`. It is read for each request.',
  }),
  vaultNamespace: optionalTextSetting({
    environment: 'VAULT_NAMESPACE',
    description: 'The namespace there.',
  }),
  vaultPaths: listSetting({
    environment: 'PARKWAY_VAULT_PATHS',
    description:
      'The paths from which keys of providers may be read; one that ends with `/` stands for everything below it. Only `secret/data/parkway/` without it.',
  }),
  awsSecretNames: listSetting({
    environment: 'PARKWAY_AWS_SM_NAMES',
    description:
      'The names in AWS Secrets Manager from which keys of providers may be read by `aws-sm:name`; one that ends with `/` stands for everything that begins with it. None without it.',
  }),
  awsSecretsRegion: optionalTextSetting({
    environment: 'PARKWAY_AWS_SM_REGION',
    description: 'The region of these secrets; `AWS_REGION` without it.',
  }),
  awsSecretsEndpoint: urlSetting(
    {
      environment: 'PARKWAY_AWS_SM_ENDPOINT',
      description: 'The address of Secrets Manager, if it is not the public one of the region.',
    },
    ['http:', 'https:'],
  ),
}

import { optionalTextSetting } from './setting.ts'

/** Control characters have no place on a printed line. */
const LINE = {
  allowed: 'one line of at most 500 characters',
  isAllowed: (text: string) => text.length <= 500 && !/\p{Cc}/u.test(text),
}

/** Who operates the gateway, as statements and receipts say it. */
export const OPERATOR_SETTINGS = {
  operatorName: optionalTextSetting(
    { environment: 'PARKWAY_OPERATOR_NAME', description: 'Who operates the gateway, on statements.' },
    LINE,
  ),
  operatorAddress: optionalTextSetting(
    {
      environment: 'PARKWAY_OPERATOR_ADDRESS',
      description: 'The address of the operator on statements; `|` begins a new line.',
    },
    LINE,
  ),
  operatorTaxId: optionalTextSetting(
    { environment: 'PARKWAY_OPERATOR_TAX_ID', description: 'The tax id of the operator on statements.' },
    LINE,
  ),
  operatorTaxLine: optionalTextSetting(
    {
      environment: 'PARKWAY_OPERATOR_TAX_LINE',
      description: 'A sentence about VAT on statements. It changes no amount.',
    },
    LINE,
  ),
} as const

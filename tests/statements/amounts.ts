/** Returns the nano-dollars of a decimal text. */
export function toNano(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? []
  return BigInt(sign + whole + fraction.padEnd(9, '0'))
}

/** Returns nano-dollars as a decimal text without zeros at its end. */
export function plain(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`
}

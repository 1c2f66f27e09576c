import type { MODERATION_CATEGORIES } from '../../../../wires/openai-moderations/moderation-request.ts'

export type ModerationCategory = (typeof MODERATION_CATEGORIES)[number]

/** Categories that apply to images. The others apply to text only. */
export const PICTURE_CATEGORIES: ReadonlySet<ModerationCategory> = new Set([
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'violence',
  'violence/graphic',
])

interface ModerationPattern {
  readonly pattern: RegExp
  readonly scores: Readonly<Partial<Record<ModerationCategory, number>>>
}

const PERSON = '(?:you|him|her|them|everyone|everybody|people|myself|my \\w+|your \\w+|his \\w+|that \\w+)'
const GROUP =
  '(?:immigrants?|foreigners?|refugees?|jews?|muslims?|christians?|women|men|gays?|blacks?|whites?|asians?|disabled people|that race|those people)'

/** Plain phrases for testing a client's handling. They are not a reliable filter. */
export const MODERATION_PATTERNS: readonly ModerationPattern[] = [
  {
    pattern: new RegExp(
      `\\b(?:kill|murder|shoot|stab|strangle|beat up|attack|hurt|punch|torture)\\s+${PERSON}`,
      'i',
    ),
    scores: { violence: 0.92, 'harassment/threatening': 0.55, harassment: 0.45 },
  },
  {
    pattern:
      /\b(?:i|we)(?:'ll| will| am going to|'m going to| are going to| want to)\s+(?:kill|murder|shoot|stab|hurt|destroy|beat)\b/i,
    scores: { violence: 0.94, 'harassment/threatening': 0.82, harassment: 0.7 },
  },
  {
    pattern:
      /\b(?:murder(?:ed|er|s)?|massacre|bloodshed|killed|killing|slaughter|shooting|stabbed|assault(?:ed)?)\b/i,
    scores: { violence: 0.62 },
  },
  {
    pattern:
      /\b(?:gore|gory|guts|dismember\w*|decapitat\w*|behead\w*|entrails|mutilat\w*|disembowel\w*|blood everywhere)\b/i,
    scores: { violence: 0.86, 'violence/graphic': 0.9 },
  },
  {
    pattern:
      /\b(?:you(?:'re| are)?|he is|she is|they are)\s+(?:such )?(?:an? )?(?:\w+ )?(?:idiots?|stupid|morons?|worthless|pathetic|losers?|ugly|dumb|disgusting)\b/i,
    scores: { harassment: 0.86 },
  },
  { pattern: /\b(?:shut up|go to hell|nobody likes you|i hate you)\b/i, scores: { harassment: 0.78 } },
  {
    pattern: new RegExp(
      `\\b(?:hate|despise|loathe|can't stand|get rid of|deport)\\s+(?:all\\s+)?(?:the\\s+)?${GROUP}`,
      'i',
    ),
    scores: { hate: 0.91, harassment: 0.6 },
  },
  {
    pattern: new RegExp(
      `\\b${GROUP}\\s+(?:are|is)\\s+(?:\\w+ )?(?:vermin|animals|inferior|subhuman|scum|parasites|filth)`,
      'i',
    ),
    scores: { hate: 0.94, harassment: 0.66 },
  },
  {
    pattern: new RegExp(`\\b(?:kill|exterminate|shoot|burn|gas)\\s+(?:all\\s+)?(?:the\\s+)?${GROUP}`, 'i'),
    scores: { hate: 0.95, 'hate/threatening': 0.93, violence: 0.9, harassment: 0.6 },
  },
  {
    pattern:
      /\b(?:suicide|suicidal|self[- ]?harm|cut(?:ting)? myself|hurt(?:ing)? myself|end (?:it all|my life)|overdose)\b/i,
    scores: { 'self-harm': 0.88 },
  },
  {
    pattern:
      /\b(?:i (?:want|am going|plan|would like) to|i'm going to|i will|i'll)\s+(?:die|kill myself|end (?:it all|my life)|hurt myself|cut myself|commit suicide)\b/i,
    scores: { 'self-harm': 0.95, 'self-harm/intent': 0.95 },
  },
  {
    pattern:
      /\b(?:how (?:to|do i|can i|do you)|ways? to|steps? to|best way to)\b.{0,40}\b(?:kill myself|commit suicide|self[- ]?harm|cut myself|overdose|end my life)\b/i,
    scores: { 'self-harm': 0.95, 'self-harm/intent': 0.7, 'self-harm/instructions': 0.94 },
  },
  {
    pattern:
      /\b(?:porn\w*|erotic\w*|nude|nudes|naked|explicit sex|sexual intercourse|have sex|orgasm|genitals?|xxx|nsfw)\b/i,
    scores: { sexual: 0.9 },
  },
  {
    pattern:
      /\b(?:child|children|minor|minors|underage|teen|kid|kids|schoolgirl|schoolboy)\b.{0,40}\b(?:sex\w*|porn\w*|nude|naked|erotic\w*)\b|\b(?:sex\w*|porn\w*|nude|naked|erotic\w*)\b.{0,40}\b(?:child|children|minor|minors|underage|schoolgirl|schoolboy)\b/i,
    scores: { sexual: 0.92, 'sexual/minors': 0.96 },
  },
  {
    pattern:
      /\b(?:how (?:to|do i|can i)|ways? to|instructions? (?:to|for)|recipe for|steps? to)\b.{0,40}\b(?:steal|shoplift|hack into|pick a lock|launder|counterfeit|forge|cook meth|make meth|make (?:drugs|cocaine|heroin)|fake (?:id|passport)|phish\w*|scam)\b/i,
    scores: { illicit: 0.91 },
  },
  {
    pattern: /\b(?:buy|sell|smuggle)\s+(?:\w+ )?(?:cocaine|heroin|meth|fentanyl|stolen)\b/i,
    scores: { illicit: 0.88 },
  },
  {
    pattern:
      /\b(?:how (?:to|do i|can i)|ways? to|instructions? (?:to|for)|recipe for|steps? to|build|make)\b.{0,40}\b(?:bombs?|explosives?|molotov|pipe bomb|grenades?|ghost gun|nerve gas|bioweapon)\b/i,
    scores: { illicit: 0.93, 'illicit/violent': 0.93, violence: 0.45 },
  },
]

// The texts of the pages about access, in English.
import { REASONS, SUBJECTS } from '../../pages/texts-by-code.js'
import { texts as shared } from '../../pages/texts.js'

export const ACCESS_TEXTS = {
  accessTo: 'Document:',
  everyoneMay: 'What everyone may do here',
  youMay: 'What you may do here',
  reason: (reason: string): string => REASONS[reason] ?? reason,
  subject: (kind: string): string => SUBJECTS[kind] ?? kind,
  askTitle: 'Ask for access',
  askFor: 'I would like to',
  ask: 'Ask the owner',
  asked: 'Your request was sent to the owner.',
  backToDocument: 'Back to the document',
  auditTitle: 'Who may do what',
  because: 'Why',
  takeAway: 'Revoke',
  takeAwayOf: (graph: string) => `Revoke the right given by ${graph}`,
  changeRule: 'Change the rule',
  changeRuleOf: (graph: string) => `Change the rule ${graph}`,
  wideRules:
    'A rule that covers other documents too cannot be revoked here. Change the rule itself, or add one for this document:',
  questionTitle: 'Check access',
  questionAgent: 'WebID of the agent (empty: anonymous)',
  questionMode: 'Mode',
  questionAsk: 'Check',
  grantTitle: 'Give access',
  grantTo: 'To',
  grantAgent: 'An agent (WebID)',
  grantGroup: 'A group (IRI)',
  grantOn: 'For',
  grantDocument: 'This document only',
  grantBelow: 'This document and everything below it',
  grant: 'Give access',
  waitingTitle: 'Access requests waiting for you',
  waitingFirst: (most: number): string => `Only the first ${most} are shown. Decide on these to see the next ones.`,
  notListed: 'Access requests cannot be listed now. Try again later, or open each one:',
  waitingDocuments: 'documents of the requests',
  wants: 'Requested',
  on: 'For',
  grantRequest: 'Grant',
  refuseRequest: 'Refuse',
} as const

export const texts = () => shared().with(ACCESS_TEXTS)

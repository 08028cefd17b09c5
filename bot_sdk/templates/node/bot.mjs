// {{name}}: a bot for Slagveld. Make it better than this.

export const card = {
  api: 1,
  name: '{{name}}',
  version: '1',
  author: '',
  rulesets: ['river', 'seven_up'],
  max_batch: 64,
  max_games: 8,
};

const height = (action) => '23456789TJQKA'.indexOf(action.at(-2));
const anyLegal = ({ legal_actions }) => legal_actions[Math.floor(Math.random() * legal_actions.length)];

// A function for each phase: it gets a decision (see docs/contract.md) and gives an action, or [action, note].
export const choose = {
  river: {
    /** Bid one trick for every ace and every trump above the nine, or the legal bid nearest to that. */
    bid({ observation: { hand, trump }, legal_actions }) {
      const hoped = hand.filter(([rank, suit]) => rank === 'A' || (suit === trump && 'TJQK'.includes(rank))).length;
      const off = (action) => Math.abs(Number(action.slice('bid:'.length)) - hoped);
      return legal_actions.reduce((best, action) => (off(action) < off(best) ? action : best));
    },

    /** Play high while tricks are missing, else low. The note is shown in the record. */
    play({ seat, observation: { bids, tricks_won }, legal_actions }) {
      const missing = bids[seat] - tricks_won[seat];
      const ranked = [...legal_actions].sort((one, other) => height(one) - height(other));
      return [missing > 0 ? ranked.at(-1) : ranked[0], `${missing} to go`];
    },
  },
  seven_up: { beg: anyLegal, gift: anyLegal, discard: anyLegal, play: anyLegal },
};

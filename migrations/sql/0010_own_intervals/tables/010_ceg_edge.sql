alter table cegdb.ceg_edge add column low double;
alter table cegdb.ceg_edge add column high double;

comment on column cegdb.ceg_edge.low is 'Lower end of the 95 % interval of the answer''s share at the source, whether or not its situations are alike; null where no other answer is possible, and given evidence.';
comment on column cegdb.ceg_edge.high is 'Upper end of the 95 % interval of the answer''s share at the source, whether or not its situations are alike; null where no other answer is possible, and given evidence.';

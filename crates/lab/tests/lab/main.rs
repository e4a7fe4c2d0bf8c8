//! Runs of whole scenarios, and comparisons of their results.

mod addresses_and_paths;
mod any_scenario;
mod cake;
mod cellular;
mod comparison;
mod congestion;
mod custom_algorithms;
mod diffserv;
mod energy;
mod exchanges;
mod flapping;
mod from_packets;
mod groups;
mod handovers;
mod host_queue;
mod laws;
mod middleboxes;
mod queues;
mod quic;
mod quic_streams;
mod readers;
mod returning_paths;
mod sctp;
mod threads;
mod unfinished;
mod video;

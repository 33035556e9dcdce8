"""What the default command leaves to .ci/run of laws of motion: in laws/, manifold/, maximal_form/ and simulation/.

Written as in tests/slow_cases.py.
"""

CASES_OF_LAWS: dict[str, tuple[str, ...]] = {
    "laws/test_backends.py::test_every_function_on_every_backend": ("5-*",),
    "laws/test_chart_mechanics.py::test_in_every_chart_a_joint_is_the_joint_of_that_chart": (
        "recursive-1-*", "recursive-2-1", "recursive-0-0",
    ),
    "laws/test_charted_springs.py::test_energy_and_momentum_are_kept_over_poles": ("0.0-*",),
    "laws/test_constrained_derivatives.py::test_one_constraint_of_every_sort_on_a_random_tree": ("3-forward*",),
    "laws/test_constrained_derivatives.py::test_robots_held_at_points_are_as_in_pinocchio": ("laikago",),
    "laws/test_constraints.py::test_methods_agree": ("12 bodies",),
    "laws/test_constraints.py::test_newtons_law_with_the_constraints_forces": ("12 bodies-*", "5 bodies-*"),
    "laws/test_constraints.py::test_rows_keep_their_rates": ("12 bodies-lagrangian",),
    "laws/test_derivatives.py::test_constraints": ("multipliers-*", "forward_dynamics-one*"),
    "laws/test_equations_of_motion.py::test_a_coupled_tree_is_the_free_tree_with_its_coordinates_tied": ("1", "3", "0"),
    "laws/test_equations_of_motion.py::test_forward_dynamics_undoes_inverse_dynamics_on_any_tree": (),
    "laws/test_equations_of_motion.py::test_the_trees_cover_every_joint_type_branches_and_long_chains": (),
    "laws/test_force_elements.py::test_the_rule_for_what_is_pressed_is_its_definition": ("0.001",),
    "laws/test_forests.py::test_a_model_put_together_from_its_trees_is_that_of_all_bodies_at_once": (),
    "laws/test_forests.py::test_every_part_is_of_one_tree_and_every_result_of_one_place": (),
    "laws/test_forests.py::test_the_layout_of_a_forest_is_that_of_its_links_one_by_one": (),
    "laws/test_forests.py::test_trees_in_lanes_give_what_one_program_of_the_whole_gives": (
        "2-*", "1-*power*", "1-*energy*", "1-*jacobian*", "1-loaded*", "1-midpoint", "1-pose_step", "1-*wrenches",
        "1-rates", "1-variational", "1-*_velocities", "1-stage", "1-step*",
    ),
    "laws/test_joint_derivatives.py::test_against_sympy_diff": ("ellipsoid", "torus", "gibbs_six"),
    "laws/test_linearization.py::test_steps_are_flows_of_the_rates": ("semi_implicit_euler",),
    "laws/test_linearization.py::test_steps_under_constraints_end_on_them": ("semi_implicit_euler",),
    "laws/test_long_joints.py::test_twice_the_lines_are_twice_the_work": ("a map that runs away", "a map that settles"),
    "laws/test_method_two.py::test_every_joint_type_moves_as_by_method_one": (
        "tree of 8", "prismatic", "screw", "euler",
    ),
    "laws/test_natural_gains.py::test_in_a_loop_time_and_what_it_leads_carry_nothing": ("a prescribed motion",),
    "laws/test_natural_gains.py::test_it_is_never_less_than_what_hangs_on_a_coordinate": ("1", "0"),
    "laws/test_newton_euler.py::test_only_gravity_and_external_wrenches_change_the_momentum_of_what_floats": (
        "thirty bodies", "six bodies",
    ),
    "laws/test_parameters.py::test_derivatives_with_respect_to_a_parameter": ("roll", "speed", "reach"),
    "laws/test_planned_forests.py::test_planned_kernels_give_what_others_do_to_the_bit": ("step", "frames"),
    "laws/test_ready_constraints.py::test_a_ready_constraint_moves_as_its_joint": ("by_weld", "by_pin"),
    "laws/test_rolling_constraints.py::test_a_stone_in_two_charts_rolls_over_its_pole": (),
    "laws/test_rolling_constraints.py::test_the_material_of_both_bodies_moves_alike_at_the_contact": (
        "*-True-False", "*-False-False",
    ),
    "laws/test_shared_coordinates.py::test_sharing_is_the_projection_of_any_free_tree": (),
    "laws/test_shared_coordinates.py::test_sharing_is_the_projection_of_the_free_tree": ("9", "14", "6", "4"),
    "laws/test_step_derivatives.py::test_in_charts": ("0",),
    "laws/test_step_derivatives.py::test_of_every_joint": ("telescope",),
    "laws/test_step_derivatives.py::test_of_forests": (),
    "laws/test_step_derivatives.py::test_of_shared_coordinates": (),
    "laws/test_time.py::test_what_time_moves_is_a_coordinate_that_no_force_moves": ("recursive",),
    "laws/test_trace_form.py::test_every_joint_type_has_the_recursions_equations": (
        "tree of 8", "free", "telescope", "helix", "euler", "prismatic", "ellipsoid_on_ellipsoid",
    ),
    "laws/test_tree_derivatives.py::test_batches_broadcast": ("None-*", "kinds2-*"),
    "manifold/test_against_coordinates.py::test_accelerations_and_energies_are_those_of_euler_and_lagrange": (
        "1-*", "2-*", "*-chain_of_6", "*-reaction_mass_pendulum", "*-double_three_dimensional",
    ),
    "manifold/test_against_coordinates.py::test_at_the_poles_there_is_nothing_special": (
        "*-chain_of_6", "*-double_three_dimensional", "over-*", "upright-*", "*-reaction_mass_pendulum",
    ),
    "manifold/test_against_scenes.py::test_a_scene_and_the_manifold_move_alike_for_a_second": (
        "chain_of_5", "chain_of_6", "chain_of_4", "chain_of_3", "*_on_universals", "flight", "reaction_mass_pendulum",
        "double_three_dimensional", "quadrotor_below_load", "three_dimensional", "stance", "double_spherical",
        "chain_of_2",
    ),
    "manifold/test_against_scenes.py::test_a_second_is_long_enough_for_everything_to_move": (),
    "manifold/test_against_scenes.py::test_they_move_alike_under_forces": (),
    "manifold/test_against_scenes.py::test_what_differs_is_an_error_of_fourth_order": (
        "chain_of_5", "chain_of_6", "chain_of_3",
    ),
    "manifold/test_motions_apart.py::test_workers_compute_what_this_process_computes": ("spawn", "forkserver"),
    "manifold/test_printing.py::test_equations_and_steps_are_typeset": ("walker_stance", "double_spherical"),
    "manifold/test_printing.py::test_latex_is_typeset": (),
    "manifold/test_same_equations.py::test_no_slip_of_the_pen_passes": (
        "double 3D pendulum", "three-link*", "double spherical pendulum",
    ),
    "manifold/test_systems.py::test_chain_on_a_cart": ("5", "6"),
    "maximal_form/test_balls_between_bodies.py::test_a_bob_leans_on_its_cone_as_statics_says": (
        "velocity_constraints-*",
    ),
    "maximal_form/test_balls_between_bodies.py::test_balls_stay_within_their_limits_and_gain_nothing": (
        "penalty-semi_implicit_euler-*", "penalty-implicit*", "velocity_constraints-None-limits1",
    ),
    "maximal_form/test_breaking_between_bodies.py::test_a_rope_under_a_growing_load_breaks_at_its_top": (
        "velocity_constraints",
    ),
    "maximal_form/test_charts_between_bodies.py::test_a_stone_rolls_over_its_poles_as_in_joint_coordinates": (
        "velocity_constraints-*",
    ),
    "maximal_form/test_charts_between_bodies.py::test_bodies_move_through_poles_as_in_joint_coordinates": ("euler-*",),
    "maximal_form/test_charts_between_bodies.py::test_limits_of_charts_are_those_of_the_definition": (
        "velocity_constraints-*",
    ),
    "maximal_form/test_driven_joints.py::test_a_linkage_in_closed_form_falls_as_one_coordinate": (
        "velocity_constraints-*", "penalty-semi*",
    ),
    "maximal_form/test_driven_joints.py::test_bodies_of_driven_joints_move_as_in_joint_coordinates": (
        "velocity_constraints-*", "penalty-semi*",
    ),
    "maximal_form/test_joint_step.py::test_loops_and_springs_are_those_of_the_definition": ("penalty-implicit*",),
    "maximal_form/test_joint_step.py::test_snapshots_and_copies_go_on_bit_by_bit": ("penalty-semi*",),
    "maximal_form/test_joint_step.py::test_what_depends_on_time_is_that_of_the_definition": (
        "velocity_constraints-*", "penalty-semi*",
    ),
    "maximal_form/test_lent_masses.py::test_they_accelerate_as_in_joint_coordinates": ("crosses", "driven"),
    "maximal_form/test_light_bodies.py::test_they_accelerate_as_in_joint_coordinates": ("linkage",),
    "maximal_form/test_maximal_dynamics.py::test_bodies_accelerate_as_in_joint_coordinates": (
        "tree of 8", "helix", "euler", "screw", "prismatic",
    ),
    "maximal_form/test_maximal_dynamics.py::test_steps_converge_to_the_motion_of_joint_coordinates": (
        "settings1", "settings2",
    ),
    "maximal_form/test_maximal_loops.py::test_bodies_bound_by_rows_on_many_move_as_in_joint_coordinates": (
        "penalty-semi*",
    ),
    "maximal_form/test_maximal_loops.py::test_bodies_of_a_four_bar_accelerate_as_in_joint_coordinates": ("True",),
    "maximal_form/test_maximal_loops.py::test_steps_of_rows_on_many_bodies_are_those_of_the_definition": (
        "penalty-semi*",
    ),
    "maximal_form/test_maximal_simulation.py::test_a_ball_rolls_as_in_joint_coordinates": ("velocity_constraints-*",),
    "maximal_form/test_maximal_simulation.py::test_a_motor_holds_an_arm_where_its_spring_meets_gravity": (
        "penalty-semi*",
    ),
    "maximal_form/test_maximal_simulation.py::test_edits_leave_what_stays_where_it_is_and_hang_what_is_new_on_it": (
        "penalty-semi*",
    ),
    "maximal_form/test_maximal_simulation.py::test_motors_lead_joints_as_a_whole_as_in_joint_coordinates": (
        "charts-penalty-*", "ball-penalty-*", "free-velocity_constraints-*", "charts-*", "free-*",
    ),
    "maximal_form/test_prescribed_between_bodies.py::test_a_coordinate_that_is_told_to_stay_bears_what_hangs_on_it": (
        "penalty-implicit*",
    ),
    "maximal_form/test_prescribed_between_bodies.py::test_a_prescribed_crank_moves_as_told_and_tells_what_that_takes": (
        "velocity_constraints-*",
    ),
    "maximal_form/test_sensors_between_bodies.py::test_at_rest_a_joint_carries_what_hangs_on_it": (
        "velocity_constraints-*",
    ),
    "maximal_form/test_sensors_between_bodies.py::test_sensors_read_what_they_do_in_joint_coordinates": ("penalty-*",),
    "maximal_form/test_shown_together.py::test_bodies_accelerate_as_in_joint_coordinates": ("cams", "differential"),
    "maximal_form/test_shown_together.py::test_bodies_move_as_in_joint_coordinates": ("*-penalty-*",),
    "maximal_form/test_shown_together.py::test_motors_limits_motions_and_constraints_act_on_them": ("penalty-*",),
    "maximal_form/test_shown_together.py::test_random_trees_accelerate_as_in_joint_coordinates": ("0", "1"),
    "maximal_form/test_shown_together.py::test_steps_are_those_of_the_definition": ("penalty-*", "*-differential"),
    "maximal_form/test_time_between_bodies.py::test_bodies_move_in_time_as_in_joint_coordinates": ("penalty-*",),
    "maximal_form/test_timed_joints.py::test_bodies_of_joints_that_time_moves_move_as_in_joint_coordinates": (
        "velocity_constraints-*", "penalty-semi*",
    ),
    "simulation/test_chart_watch.py::test_many_steps_are_so_many_single_ones": (
        "semi_implicit_euler-*", "implicit_midpoint-*",
    ),
    "simulation/test_charted_motors.py::test_power_is_that_of_the_springs_energy": (),
    "simulation/test_charts.py::test_a_bead_on_six_charts_each_of_half_a_sphere": (),
    "simulation/test_charts.py::test_a_spinning_bead_over_the_poles_keeps_its_energy_to_the_integrators_order": (
        "rk4",
    ),
    "simulation/test_closed_forms.py::test_cycloid_is_isochronous": ("1.0", "3.0", "2.0"),
    "simulation/test_closed_forms.py::test_spherical_pendulum": ("surface",),
    "simulation/test_constrained_motion.py::test_constraints_hold_to_rounding_for_ten_thousand_steps": (
        "semi_implicit_euler", "implicit_midpoint",
    ),
    "simulation/test_constrained_motion.py::test_states_converge_with_the_integrators_order": ("semi_implicit_euler",),
    "simulation/test_constrained_motion.py::test_stiff_springs_in_a_loop_make_no_energy_at_30_hz": (
        "0.0-*", "1000000.0-0.0",
    ),
    "simulation/test_control.py::test_it_does_what_forces_set_by_hand_before_every_step_do": (
        "semi_implicit_euler", "implicit_midpoint",
    ),
    "simulation/test_convergence.py::test_every_joint_type_is_stepped_with_the_integrators_order": ("tree of 8",),
    "simulation/test_convergence.py::test_quaternions_stay_on_their_sphere": (
        "semi_implicit_euler", "linearly_implicit_rk4",
    ),
    "simulation/test_energy_watch.py::test_a_halved_step_is_differentiated_part_by_part": ("open",),
    "simulation/test_energy_watch.py::test_a_windmill_without_springs_keeps_its_energy_or_tells": (),
    "simulation/test_energy_watch.py::test_an_undamped_chain_keeps_its_energy": ("slender ball-*",),
    "simulation/test_energy_watch.py::test_undamped_rings_keep_their_energy_at_a_frame_a_step": ("bezier chain*",),
    "simulation/test_grab.py::test_a_chain_with_a_heavy_end_is_led_by_its_light_one": ("1.0-1000.0", "80.0-30.0"),
    "simulation/test_integrator_definitions.py::test_a_compiled_step_is_the_definitions_step": (
        "*-9 bodies*", "*-floating", "semi_implicit_euler-*", "variational_midpoint-constraints",
    ),
    "simulation/test_integrator_definitions.py::test_a_long_compiled_run_is_the_definition_again_and_again": (
        "variational_midpoint-balls", "variational_midpoint-floating", "variational_midpoint-prismatic ends",
        "implicit_midpoint-floating", "linearly_implicit_rk4-9 bodies*", "implicit_midpoint-balls",
        "variational_midpoint-9 bodies*", "semi_implicit_euler-*", "variational_midpoint-*", "held_rk4-9 bodies*",
        "implicit_midpoint-9 bodies*", "linearly_implicit_rk4-floating",
    ),
    "simulation/test_interrupts.py::test_a_long_call_is_interrupted_soon_and_between_steps": (
        "implicit_midpoint", "semi_implicit_euler",
    ),
    "simulation/test_limits.py::test_a_closed_loop_meets_its_stop": ("implicit_midpoint", "semi_implicit_euler"),
    "simulation/test_limits.py::test_limits_hold_beside_a_joint_of_several_charts": ("semi_implicit_euler",),
    "simulation/test_limits.py::test_limits_out_of_reach_change_nothing_and_need_no_solver": (),
    "simulation/test_limits.py::test_stops_add_no_energy": ("*-springs",),
    "simulation/test_midpoint_newton.py::test_large_steps_are_those_of_the_definition": ("inertia2-*",),
    "simulation/test_midpoint_newton.py::test_newtons_method_converges_quadratically_on_any_joint": (
        "any joints", "floating", "prismatic ends",
    ),
    "simulation/test_motors_of_joints.py::test_motors_within_a_floating_robot_keep_its_momentum": (
        "semi_implicit_euler",
    ),
    "simulation/test_prescribing.py::test_a_prescribed_crank_is_a_joint_driven_by_time": (
        "semi_implicit_euler", "linearly_implicit_rk4",
    ),
    "simulation/test_pushes.py::test_a_pushed_step_is_the_definitions_with_forces_on_bodies": (
        "*-any", "variational_midpoint-*",
    ),
    "simulation/test_pushes.py::test_forces_at_centres_of_mass_move_as_gravity_does": (
        "semi_implicit_euler", "linearly_implicit_rk4", "implicit_midpoint", "variational_midpoint",
    ),
    "simulation/test_pushes.py::test_pushed_steps_keep_their_order": ("semi_implicit_euler",),
    "simulation/test_overconstrained_loops.py::test_bennetts_bars_keep_their_angles": ("*-entries-implicit_midpoint",),
    "simulation/test_singular_positions.py::test_four_bars_in_a_row_stay_parallelograms_and_keep_their_energy": (
        "0.0021-*", "0.00098*",
    ),
    "simulation/test_singular_positions.py::test_four_bars_whirl_through_their_change_points": ("0.0041*", "0.0083*"),
    "simulation/test_taut_chains.py::test_links_of_a_taut_chain_spin_on": ("5-0.0-1e-12", "*--9.81-0.004"),
    "simulation/test_stage_control.py::test_driven_steps_keep_their_order": (
        "semi_implicit_euler", "variational_midpoint",
    ),
    "simulation/test_topology.py::test_a_swapped_joint_takes_energy_and_gives_none": ("0", "1"),
    "simulation/test_travelling_simulations.py::test_copies_go_on_as_the_original_does_and_leave_it_alone": (
        "constraints",
    ),
    "simulation/test_travelling_simulations.py::test_workers_go_on_as_this_process_does": ("spawn", "forkserver"),
    "simulation/test_variational_constraints.py::test_energy_of_closed_chains_stays_in_a_band": (
        "inertia0-True", "inertia1-True",
    ),
    "simulation/test_whole_steps.py::test_a_long_run_is_interrupted_at_once_after_a_whole_step": (
        "implicit_midpoint-*",
    ),
    "simulation/test_worker_processes.py::test_charts_constraints_and_shared_coordinates_travel": ("constraints",),
    "simulation/test_worker_processes.py::test_workers_compute_what_this_process_computes": ("spawn", "forkserver"),
}  # fmt: skip
